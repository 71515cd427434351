// Without code: that it is here allows step.go to declare functions that have no body.
