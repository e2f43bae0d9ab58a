"""Models: clients that speak to them, what families of them can do, and what to do when one fails."""

from .chat import ChatClient
from .demo import DemoModel
from .history import repair_history
from .profiles import Profile, profile_for
from .resilient import Resilient, RetryPolicy
from .transport import (
    HttpRequest,
    HttpResponse,
    HttpTransport,
    Transport,
    TransportError,
)

__all__ = [
    "ChatClient",
    "DemoModel",
    "HttpRequest",
    "HttpResponse",
    "HttpTransport",
    "Profile",
    "Resilient",
    "RetryPolicy",
    "Transport",
    "TransportError",
    "profile_for",
    "repair_history",
]
