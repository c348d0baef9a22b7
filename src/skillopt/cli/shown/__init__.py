"""What a person is shown while a run goes on and after it: live picture, plans, differences."""
