grader: 1 on n2
grader: on n2 nothing was run: no sandbox works on this machine: sandbox bubblewrap: a program would run as root: only who may mount gets a second user from it; user namespaces are forbidden here (the container or a security module; to allow them: a profile for it that allows unshare and mount); grader doctor --engine says more

real	0m5.352s
user	0m0.751s
sys	0m0.110s
