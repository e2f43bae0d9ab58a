"""The built-in tools: one module each, with its schema, its work and its effects.

Texts are written for models: English, exact, and naming the next call to make where something is left
out. No tool can name anything outside of its project.
"""

from wenfang.core import Tool
from wenfang.workspace import Workspace

from .calculator import calculator
from .list_files import make_list_files
from .python_interpreter import make_python_tool
from .read_file import make_read_file
from .sandbox import PythonSandbox, SandboxLimits, SandboxResult
from .write_file import make_write_file

__all__ = [
    "PythonSandbox",
    "SandboxLimits",
    "SandboxResult",
    "calculator",
    "make_file_tools",
    "make_python_tool",
]


def make_file_tools(workspace: Workspace) -> list[Tool]:
    """list_files, read_file, write_file and edit_file for one project."""
    from .edit_file import make_edit_file  # a server without runs does not load the edits

    return [
        make_list_files(workspace),
        make_read_file(workspace),
        make_write_file(workspace),
        make_edit_file(workspace),
    ]
