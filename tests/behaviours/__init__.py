"""The behaviour corpus: real failures of well-known agent systems as scripts, run on every face."""
