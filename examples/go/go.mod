module asyncwait.example/operator

go 1.19
