#!/bin/sh
# Tells the inventory that a machine came or went: inventory.sh add|remove NAME ADDRESS
set -eu
curl --fail --silent --show-error --max-time 20 \
    --data "name=$2" --data "address=$3" "https://inventory.lab.example/machines/$1"
