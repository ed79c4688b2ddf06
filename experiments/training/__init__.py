"""What training is made of: a teacher's examples, and a network that learns from them."""
