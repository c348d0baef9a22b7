"""What holds a run back: slots for each account, and the ledger of reservations under the caps."""
