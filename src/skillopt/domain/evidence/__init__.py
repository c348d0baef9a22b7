"""The gate's statistics: pure functions from answers to what they show, and at what risk of being wrong.

Owns the tests, the alpha they spend and the effect they report; refuses to know skills, models and journals.
"""
