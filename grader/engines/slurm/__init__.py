"""The engine `slurm`: one array for each kind of needs, and nothing but sbatch, squeue and scancel."""
