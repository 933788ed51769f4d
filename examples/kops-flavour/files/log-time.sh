#!/bin/bash
# Says hello; stands for what installs drivers and libraries.
echo "Hello World. The time is now $(date -R)." | tee /home/output.txt
