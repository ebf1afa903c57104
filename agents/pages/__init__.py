"""The pages of agents."""
