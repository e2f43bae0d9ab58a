"""Tests of the crews, and a provider with abilities for tests of what probes find."""
