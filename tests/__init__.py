"""Tests, in the folders of the code they test."""
