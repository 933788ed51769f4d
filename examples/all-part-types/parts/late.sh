#!/bin/sh
# Runs once on a new instance, after everything else.
logger --tag museum "the doors are open"
