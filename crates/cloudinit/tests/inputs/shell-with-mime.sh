#!/bin/sh
# MIME-Version: 1.0
sendmail <<E
MIME-Version: 1.0
E
