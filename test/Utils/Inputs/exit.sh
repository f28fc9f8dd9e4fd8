#!/bin/sh
# Plays a program that fails without a word.
exit 3
