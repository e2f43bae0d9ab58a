"""Alembic's folder: `env.py` and one module per revision in `versions`."""
