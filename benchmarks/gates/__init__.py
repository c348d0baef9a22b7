"""The gate's own worlds: tasks with known chances, and edits that are known to help, to hurt or to do nothing."""
