# make            install what is missing (once), configure and build the release preset: tools in build/bin
# make demo       train a small GPT under several policies and compare them (TEXT=FILE for another text)
# make check      unit tests and lit, without the slow ones
# make test       run every test; the last line is "N passed, N failed"
# make test-frameworks  the tests that need PyTorch, JAX and their models, in a virtual environment (ALL=1 for every model)
# make bench      measure; writes build/bench/*.json
# make asan       build with address and undefined-behaviour sanitizers and run the lit suite and the unit tests
# make nightly    what a machine has time for at night: make asan, a minute of each fuzzer of bytes, and the
#                 random training programs that show every op replayed
# make docs       write docs/reference/generated again
# make site       build the pages as a site: build/site/index.html
# make install    PREFIX=FOLDER
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local

.PHONY: build demo check test test-frameworks bench asan nightly docs site install clean

build: build/build.ninja
	@cmake --build build -j $(JOBS)

build/build.ninja:
	@utils/install-deps.sh
	cmake --preset release

demo: build/build.ninja
	@cmake --build build -j $(JOBS) --target reprise-zoo reprise-compile reprise-run executed-arena
	@python3 utils/demo.py --build build $(if $(TEXT),--text "$(TEXT)")

check: build
	@python3 utils/run-tests.py build --quick unit lit

test: build
	@python3 utils/run-tests.py build

test-frameworks: build
	@python3 utils/check-frameworks.py build $(if $(ALL),--all)

bench: build
	@python3 utils/bench/bench.py --build build

asan:
	@test -f build-asan/build.ninja || { utils/install-deps.sh && cmake --preset asan; }
	@cmake --build build-asan -j $(JOBS)
	@python3 utils/run-tests.py build-asan unit lit

nightly: asan build
	@python3 utils/fuzz/fuzz-bytes.py build-asan --seconds=60
	@build/bin/reprise-fuzz --kind=training --count=400 --jobs=$(JOBS)

docs: build
	@cmake --build build --target generated-docs

site:
	@utils/site/make-site.sh build

install: build
	@cmake --install build --prefix "$(PREFIX)"

clean:
	rm -rf build build-dev build-asan
