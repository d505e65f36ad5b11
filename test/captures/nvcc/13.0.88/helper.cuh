static inline int helper(int a) { int never; return a; }
