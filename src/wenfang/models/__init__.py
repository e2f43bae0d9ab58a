"""Models: clients that speak to them, what families of them can do, and what to do when one fails."""

from .chat import ChatClient
from .chooser import Chooser, ChooserRules, Route
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
    "Chooser",
    "ChooserRules",
    "DemoModel",
    "HttpRequest",
    "HttpResponse",
    "HttpTransport",
    "Profile",
    "Resilient",
    "RetryPolicy",
    "Route",
    "Transport",
    "TransportError",
    "profile_for",
    "repair_history",
]
