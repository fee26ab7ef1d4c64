# Names for the scripts in tools/; each says at its top what it does.

.POSIX:

help:
	@echo 'make demo | test | quick | lint | memcheck | fuzz | zoo | articles | mutants | coverage | check |' \
	  'matrix | docs | site | site-look | bench | house | extension'

demo:
	./tools/demo

test:
	./tools/test

quick: # the tests that a change touches
	./tools/quick

lint:
	./tools/lint

memcheck:
	./tools/memcheck

fuzz: # random cases of the public functions
	./tools/fuzz

zoo: # default fits of other people's data sets
	./tools/zoo

articles: # runs the website's articles, and checks what they say
	./tools/articles

mutants: # are wrong formulas told by the tests?
	./tools/mutants

coverage: # which lines do the tests run?
	./tools/coverage

check:
	./tools/check

matrix: # other compilers, BLAS libraries and neighbours
	./tools/matrix

docs:
	./tools/docs

site:
	./tools/site

site-look: # builds the website and looks at it: links, a browser's windows, the search box
	./tools/site-look

bench:
	./tools/bench

extension: # a package with a likelihood and a kernel in C
	./tools/extension

house: # lines, questions about kinds, cycles, the road of a small fit
	./tools/house

.PHONY: help demo test quick lint memcheck fuzz zoo articles mutants coverage check docs site site-look bench \
	house extension matrix
