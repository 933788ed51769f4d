package main

// Kubelet's own main registers the format, and the flags of it appear only then. 1.20 has no such package, and `run` leaves this file out.
import _ "k8s.io/component-base/logs/json/register"
