"""The built studio: `static/` is made from `web/` by `hatch_build.py` and served by the server."""
