"""Notes that say one thing in several records become one record that loses no detail."""
