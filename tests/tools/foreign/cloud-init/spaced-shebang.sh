#! /bin/sh
echo a space in the shebang
