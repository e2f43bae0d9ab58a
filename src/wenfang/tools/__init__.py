"""The built-in tools: one module each, with its schema, its work and its effects.

Texts are written for models: English, exact, and naming the next call to make where something is left
out. No tool can name anything outside of its project.
"""

from wenfang.core import Tool
from wenfang.workspace import Files

from .calculator import calculator
from .python_interpreter import make_python_tool
from .sandbox import PythonSandbox, SandboxLimits, SandboxResult

__all__ = [
    "PythonSandbox",
    "SandboxLimits",
    "SandboxResult",
    "calculator",
    "make_file_tools",
    "make_python_tool",
]


def make_file_tools(files: Files) -> list[Tool]:
    """list_files, read_file, write_file and edit_file for one project."""
    from .edit_file import edit_file  # a server without runs does not load them
    from .list_files import list_files
    from .read_file import read_file
    from .write_file import write_file

    return [tool.bound(files) for tool in (list_files, read_file, write_file, edit_file)]
