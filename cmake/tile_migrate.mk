# include this file, then `$(call tile_migrate,LIBRARY.a,FILE.cu...)` makes a rule for LIBRARY.a, a
# static library to link with $(TILE_MIGRATE_LIBS). Set TILE_MIGRATE_FLAGS to options, and
# TILE_MIGRATE_CXXFLAGS to what g++ gets.
TILE_MIGRATE ?= tile-migrate
TILE_MIGRATE_RUNTIME := $(shell $(TILE_MIGRATE) build --print-runtime)
TILE_MIGRATE_LIBS = -L$(TILE_MIGRATE_RUNTIME) -ltm_cudart -Wl,-rpath,$(TILE_MIGRATE_RUNTIME)

define tile_migrate_rule
$(1): $(2)
	$(TILE_MIGRATE) build $(2) -o $(1) $(TILE_MIGRATE_FLAGS) --dep-file $(1).d -- $(TILE_MIGRATE_CXXFLAGS)
-include $(1).d
endef
tile_migrate = $(eval $(call tile_migrate_rule,$(1),$(2)))
