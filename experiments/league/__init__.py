"""What a tournament is made of: line-ups, blocks of deals, statistics, the results file, the table."""
