# Names for the scripts in tools/; each says at its top what it does.

.POSIX:

help:
	@echo 'make demo | test | check | docs | bench'

demo:
	./tools/demo

test:
	./tools/test

check:
	./tools/check

docs:
	./tools/docs

bench:
	./tools/bench

.PHONY: help demo test check docs bench
