"""What agents are sent to do, and what they did on the way to their answer."""
