"""Tasks of a dataset that an agent is sent to do: what lies in its folder, and how what it did is graded."""
