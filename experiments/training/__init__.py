"""What training is made of: a teacher's examples, cloning, games of many seats, rollouts, PPO, the pool, the run."""
