"""The server: FastAPI routes over the rooms below, event streams, the studio's files."""

from .app import make_app, open_services, serve
from .security import PublicUrl, is_loopback
from .services import Services
from .serving import Server, bind, url_of
from .studio import BUILT

__all__ = [
    "BUILT",
    "PublicUrl",
    "Server",
    "Services",
    "bind",
    "is_loopback",
    "make_app",
    "open_services",
    "serve",
    "url_of",
]
