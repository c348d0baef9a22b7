"""Files that tasks and settings name: where they may lie, and which of them are images that can be shown."""
