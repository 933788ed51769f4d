#!/bin/sh
echo alone
