# include this file, then `$(call tile_migrate,OUT,FILE.cu...)` makes a rule for OUT, an object (.o) or
# a static library (.a) of the files. A changed header that a file includes makes it build again.
#
#   TILE_MIGRATE           the command
#   TILE_MIGRATE_FLAGS     options of tile-migrate build, such as --mode kept
#   TILE_MIGRATE_CXXFLAGS  what g++ gets for the files, such as -Iinclude -DN=4
#   TILE_MIGRATE_CPPFLAGS  for host code that includes CUDA's headers
#   TILE_MIGRATE_LIBS      to link the program with
TILE_MIGRATE ?= tile-migrate
TILE_MIGRATE_PACKAGE := $(dir $(realpath $(lastword $(MAKEFILE_LIST))))..
TILE_MIGRATE_RUNTIME := $(shell $(TILE_MIGRATE) build --print-runtime)
TILE_MIGRATE_CPPFLAGS = -isystem $(TILE_MIGRATE_PACKAGE)/compat/include -DTM_HOST_UNIT
TILE_MIGRATE_LIBS = -L$(TILE_MIGRATE_RUNTIME) -ltm_cudart -Wl,-rpath,$(TILE_MIGRATE_RUNTIME)

ifeq ($(TILE_MIGRATE_RUNTIME),)
$(error $(TILE_MIGRATE) build --print-runtime failed; set TILE_MIGRATE to the command)
endif

# The second part of a dep-file gives every header a rule of its own: one that is gone is no error.
define tile_migrate_rule
$(1): $(2)
	$$(TILE_MIGRATE) build $(2) -o $(1) $$(TILE_MIGRATE_FLAGS) --dep-file $(1).d -- $$(TILE_MIGRATE_CXXFLAGS)
	@sed -e '1s/^[^:]*: *//' -e 's/ *\\$$$$//' -e 's/$$$$/:/' $(1).d > $(1).d.headers
	@cat $(1).d.headers >> $(1).d && rm -f $(1).d.headers
-include $(1).d
endef
tile_migrate = $(eval $(call tile_migrate_rule,$(1),$(2)))
