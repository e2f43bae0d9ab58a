"""`python -m wenfang.server.openapi` prints the OpenAPI document, the same bytes each time.

The studio's types are generated from it.
"""

from __future__ import annotations

import json
import sys

from .app import make_app


def main() -> None:
    json.dump(make_app(None).openapi(), sys.stdout, ensure_ascii=False, indent=2, sort_keys=True)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
