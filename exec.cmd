@rem npm runs scripts in cmd on Windows, which has no "exec". In a POSIX shell, exec makes the program npm's own child,
@rem so that a signal sent to npm reaches the program and not only a shell in between.
@%*
