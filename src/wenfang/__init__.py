"""Wenfang."""
