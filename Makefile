# skein: see `make help`.
#
#   V=1      show the commands
#   SAN=1    build with AddressSanitizer and UndefinedBehaviorSanitizer, in build/san
#   O=DIR    build somewhere else
#   PREFIX=DIR   install there, not in /usr/local
#   DESTDIR=DIR  ... below this folder, for packages

V ?= 0
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)')

O ?= build$(if $(filter 1,$(SAN)),/san)
CC := gcc
CLANG := clang-16
BPFTOOL := $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
ARCH := $(shell uname -m | sed 's/aarch64/arm64/')
BPF_ARCH := $(if $(filter x86_64,$(ARCH)),x86,$(ARCH))
VERSION := 0.1.0

# Where `make install` puts things; BINDIR, LIBDIR, MANDIR, DOCDIR, BASH_DIR, ZSH_DIR, FISH_DIR and
# UNIT_DIR follow PREFIX: packaging/install.
PREFIX ?= /usr/local
DESTDIR ?=
export DESTDIR PREFIX BINDIR LIBDIR MANDIR DOCDIR BASH_DIR ZSH_DIR FISH_DIR UNIT_DIR

WARN := -Wall -Wextra -Werror -Wmissing-field-initializers -Wundef -Wstrict-prototypes \
	-Wmissing-prototypes -Wshadow -Wvla
SANFLAGS := $(if $(filter 1,$(SAN)),-fsanitize=address -fsanitize=undefined \
	-fno-sanitize-recover=all -fno-omit-frame-pointer)
CPPFLAGS += -D_GNU_SOURCE -DSKEIN_VERSION='"$(VERSION)"' -DXXH_INLINE_ALL -Iuser -I. -I$(O)
CFLAGS += -std=gnu11 -O2 -g $(WARN) $(SANFLAGS)
LDFLAGS += $(SANFLAGS)
# The same source gives the same program in every folder.
PREFIX_MAP := -ffile-prefix-map=$(CURDIR)=.
LDLIBS += -lbpf -ldw -lelf -llzma -lzstd -lz -lsqlite3 -lseccomp -lcap -lncursesw -ltinfo -lm

# Everything but main() is a library, so that tests link the same objects.
SOURCES := $(sort $(wildcard user/*/*.c symbolizers/*.c symbolizers/*/*.c))
OBJECTS := $(SOURCES:%.c=$(O)/%.o)
LIBRARY := $(O)/libskein.a
SKELETONS := $(patsubst bpf/%.bpf.c,$(O)/bpf/%.skel.h,$(wildcard bpf/*.bpf.c))
UNIT := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(wildcard tests/unit/test_*.c))
# Programs that tests of formats need.
READERS := $(patsubst tests/readers/%.c,$(O)/tests/readers/%,$(wildcard tests/readers/*.c))
# Programs that use the library as a command does, and record this machine.
RECORDERS := $(patsubst tests/live/%.c,$(O)/tests/live/%,$(wildcard tests/live/*.c))
# What lets single calls fail; it knows the registers of x86-64 only.
SHIM := $(if $(filter x86_64,$(ARCH)),$(O)/tests/faults/shim.so)
WORKLOADS := $(addprefix $(O)/, \
	$(basename $(wildcard tests/workloads/*.c tests/workloads/*.cc)) \
	$(if $(shell command -v rustc),$(basename $(wildcard tests/workloads/*.rs))) \
	$(patsubst %.c,%.so,$(wildcard tests/workloads/lib/*.c)) tests/meters/slices)

# Whoever types one command is not to wait for one CPU.
JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

.DEFAULT_GOAL := all
.SECONDARY:

all: $(O)/skein $(O)/skein.so ## build skein (build/skein) and its extension for SQLite

help: ## this list
	@echo "skein: a profiler for a whole Linux machine. make targets:"
	@sed -n 's/^\([a-z_.-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 25
	@echo "variables:"
	@sed -n 's/^#   \([A-Z]*=[A-Z0-9]*\) *\(.*\)/  \1\t\2/p' Makefile | expand -t 25

run: deps ## install what is missing, build, record this machine for 10 s, show the report
	$(Q)$(MAKE) $(JOBS) --no-print-directory all
	$(Q)tools/run $(O)/skein

deps: ## install the Debian packages that the build needs (asks nothing)
	$(Q)tools/deps build

test: ## install what the tests need, build, and run every test in its short form
	$(Q)tools/deps build test programs packaging readers
	$(Q)$(MAKE) $(JOBS) --no-print-directory all workloads unit bpf-all fuzz image
	$(Q)tests/run --build $(O)

test-san: ## the unit tests under AddressSanitizer and UndefinedBehaviorSanitizer
	$(Q)tools/deps build test
	$(Q)$(MAKE) --no-print-directory SAN=1 all unit
	$(Q)tests/run --build build/san --only unit/test_

# What was measured is written also when a test failed.
evidence: ## the long forms of the tests (again: those that have not passed yet); writes docs/
	$(Q)tools/deps build test programs packaging readers
	$(Q)$(MAKE) $(JOBS) --no-print-directory all workloads unit bpf-all fuzz image
	$(Q)tests/run --build $(O) --long --resume; status=$$?; tools/evidence --build $(O) --write && \
		exit $$status

bench: ## measure against perf in one run; writes docs/performance.md
	$(Q)tools/deps build bench profilers readers
	$(Q)$(MAKE) $(JOBS) --no-print-directory all workloads $(O)/tests/readers/make_trace
	$(Q)tools/bench --skein $(O)/skein --write

unit: $(UNIT) $(READERS) $(RECORDERS) $(SHIM) ## build the unit tests
workloads: $(WORKLOADS) ## build the programs that the live tests profile

bpf-all: ## compile the BPF programs for every architecture
	$(Q)for a in x86_64 arm64; do \
		for f in bpf/*.bpf.c; do \
			$(MAKE) --no-print-directory $(O)/bpf/$$a/$$(basename $$f .c).o ARCH=$$a || exit 1; \
		done; done

fuzz: $(O)/libiberty.o ## build the fuzz targets (clang) and their replay programs
	$(Q)$(MAKE) --no-print-directory -C tests/fuzz O=$(abspath $(O)) ROOT=$(CURDIR)

format: ## format the C sources with clang-format
	$(Q)tools/format

compile_commands.json: ## for editors and clang tools
	$(Q)$(MAKE) --always-make --dry-run --no-print-directory V=1 all unit | \
		tools/compile-commands > $@

install: all ## install skein below PREFIX (/usr/local), for packages below DESTDIR
	$(Q)packaging/install $(O)

uninstall: all ## remove what install has installed
	$(Q)packaging/install --remove $(O)

deb: all ## build a Debian package, in build/deb
	$(Q)packaging/deb $(O) $(O)/deb

clean: ## remove build/
	$(Q)rm -rf build compile_commands.json

$(O)/skein: $(O)/main.o $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# The same objects in one file that needs no library and no loader: any distribution runs it.
STATIC_LDLIBS := $(LDLIBS) -lbz2 -lpthread

static: $(O)/static/skein ## build build/static/skein, one file that runs on any distribution

$(O)/static/skein: $(O)/main.o $(O)/user/static.o $(LIBRARY)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -static-pie $(foreach f,dlopen dlsym dlclose dlerror,-Wl,--wrap=$(f)) \
		$(LDFLAGS) -o $@.tmp $^ $(STATIC_LDLIBS)
	$(Q)strip --strip-debug -o $@ $@.tmp && rm $@.tmp

IMAGE := $(O)/image/skein-$(VERSION).tar
image: $(IMAGE) $(O)/image/seccomp.json ## build a container image and its seccomp profile, in build/image

# Always made: it names the commit.
$(IMAGE): $(O)/static/skein tools/image always
	$(call say,IMAGE,$@)
	$(Q)tools/image $< $(VERSION) $@

# The default profile of the engine here; elsewhere: tools/seccomp-profile DEFAULT.
$(O)/image/seccomp.json: tools/seccomp-profile
	$(call say,PROFILE,$@)
	$(Q)mkdir -p $(@D)
	$(Q)tools/seccomp-profile >$@.tmp && mv $@.tmp $@ || { rm -f $@.tmp; \
		echo "no default profile here: tools/seccomp-profile DEFAULT makes one" >&2; }

$(O)/main.o: user/main.c $(SKELETONS)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(PREFIX_MAP) -MMD -MP -c -o $@ $<

# For programs that have SQLite: what reads streams, and of it only the entry point is seen.
EXTENSION := $(O)/user/extension.so.o $(patsubst %,$(O)/user/%.so.o,base/error base/record \
	base/text base/vector trace/attached trace/codec trace/columns trace/finder trace/forms \
	trace/vtab)
EXTENSION_CFLAGS := -fPIC -fvisibility=hidden -ffunction-sections -include user/extension.h

$(O)/skein.so: $(EXTENSION)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,--gc-sections,-z,relro,-z,now \
		$(if $(SANFLAGS),,-Wl,-z,defs) $(LDFLAGS) -o $@ $^ -lzstd

$(O)/%.so.o: %.c
	$(call say,CC,$< for $(@F))
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(EXTENSION_CFLAGS) -MMD -MP -c -o $@ $<

# libiberty's demanglers, with a heap that can be emptied: symbolizers/demangle_run.h.
$(O)/libiberty.o: Makefile
	$(call say,OBJCOPY,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(LD) -r -u cplus_demangle_v3_callback -u rust_demangle_callback -o $@.tmp \
		$$($(CC) -print-file-name=libiberty.a)
	$(Q)objcopy $(foreach f,malloc realloc free,--redefine-sym $(f)=demangle_$(f)) $@.tmp $@
	$(Q)rm $@.tmp

# The HTTP library without gnutls, which it needs for TLS only: user/http/no_tls.c.
MICROHTTPD := $(shell $(CC) -print-file-name=libmicrohttpd.a)
$(O)/libmicrohttpd.o: $(MICROHTTPD) $(O)/user/http/no_tls.o Makefile
	$(call say,LD,$@)
	$(Q)$(LD) -r -u MHD_start_daemon -o $@.whole $<
	$(Q)$(LD) -r -o $@.tmp $@.whole $(O)/user/http/no_tls.o \
		$$(nm -u $@.whole | sed -n 's/^ *U \(gnutls_.*\)/--defsym=\1=http_no_tls/p')
	$(Q)objcopy --wildcard --localize-symbol='gnutls_*' --localize-symbol=http_no_tls $@.tmp $@
	$(Q)rm $@.whole $@.tmp

$(LIBRARY): $(OBJECTS) $(O)/libiberty.o $(O)/libmicrohttpd.o
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(filter $(O)/user/capture/% $(O)/user/cmd/%,$(OBJECTS)): | $(SKELETONS)

# The page in one piece; in a browser's eyes its scripts are one script, in this order.
PAGE := $(addprefix user/view/,page.html page.css $(addsuffix .js,text data tree views state \
	colours paint canvas search panes table sandwich touch header keys compare feed \
	static_runs static_cells static_counters static_wanted static_samples static_feed timeline_pair \
	timeline_axis timeline_lanes timeline_counters timeline_paint timeline_windows \
	timeline_picture timeline_names timeline_keys timeline_input timeline_chain \
	timeline_slice timeline_chosen timeline_found timeline main))
$(O)/view/page.h: tools/page $(PAGE)
	$(call say,PAGE,$@)
	$(Q)mkdir -p $(@D)
	$(Q)tools/page $(PAGE) >$@.tmp && mv $@.tmp $@
$(O)/user/export/page_parts.o: | $(O)/view/page.h

$(O)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(PREFIX_MAP) -MMD -MP -c -o $@ $<

BPF_CFLAGS = -g -O2 -mcpu=v3 -target bpf -Wall -Wextra -Werror -Wno-missing-declarations \
	-Wno-unused-parameter -D__TARGET_ARCH_$(BPF_ARCH) -Ivmlinux/$(ARCH) -I.

$(O)/bpf/$(ARCH)/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h bpf/unwind/*.h) vmlinux/$(ARCH)/vmlinux.h
	$(call say,BPF,$< $(ARCH))
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) $(PREFIX_MAP) -c -o $@ $<

# The program contains the objects without their DWARF, a third of them, which nothing reads.
$(O)/bpf/%.skel.h: $(O)/bpf/$(ARCH)/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen object $(O)/bpf/$*.o $<
	$(Q)$(BPFTOOL) gen skeleton $(O)/bpf/$*.o name $*_bpf > $@.tmp && mv $@.tmp $@

$(UNIT) $(READERS) $(RECORDERS): $(O)/tests/%: tests/%.c $(LIBRARY)
	$(call say,TEST,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -Itests/unit -MMD -MP -MF $@.d -o $@ $< \
		$(LIBRARY) $(LDFLAGS) \
		$$(pkg-config --cflags --libs check) $(LDLIBS)

$(O)/tests/faults/%.so: tests/faults/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -fPIC -shared -o $@ $< -ldl

# Workloads must keep the shape that the tests know: no inlining, frame pointers.
WORKLOAD_FLAGS := -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer -fno-inline \
	-fno-optimize-sibling-calls -Wall -Wextra -Werror

# As distributions build: this one is for those who need no frame pointers.
$(O)/tests/workloads/unwindmix: WORKLOAD_FLAGS := -D_GNU_SOURCE -O2 -g -fomit-frame-pointer \
	-Wall -Wextra -Werror

$(WORKLOADS): tests/workloads/burn.h

$(O)/tests/workloads/%: tests/workloads/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WORKLOAD_FLAGS) -o $@ $< -lpthread -ldl

$(O)/tests/workloads/%.so: tests/workloads/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WORKLOAD_FLAGS) -fPIC -shared -o $@ $<

$(O)/tests/meters/%.bpf.o: tests/meters/%.bpf.c tests/meters/%.h vmlinux/$(ARCH)/vmlinux.h
	$(call say,BPF,$< $(ARCH))
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) $(PREFIX_MAP) -c -o $@ $<

$(O)/tests/meters/%.skel.h: $(O)/tests/meters/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@.tmp && mv $@.tmp $@

$(O)/tests/meters/%: tests/meters/%.c $(O)/tests/meters/%.skel.h
	$(call say,CC,$@)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -I$(O) -o $@ $< -lbpf

$(O)/tests/workloads/%: tests/workloads/%.cc
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)g++ $(WORKLOAD_FLAGS) -o $@ $<

$(O)/tests/workloads/%: tests/workloads/%.rs
	$(call say,RUSTC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)rustc --edition 2021 -O -g -C force-frame-pointers=yes -o $@ $<

-include $(shell find $(O) -name '*.d' 2>/dev/null)

.PHONY: all always help run deps test test-san evidence bench unit workloads bpf-all fuzz format \
	install uninstall deb static image \
	compile_commands.json clean
