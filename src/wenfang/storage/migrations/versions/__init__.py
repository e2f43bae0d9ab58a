"""One module per revision of the tables, oldest first."""
