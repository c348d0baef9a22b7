"""The wire formats: each module writes the requests and reads the replies of one. None knows who is asked."""
