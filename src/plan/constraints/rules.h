/* The paper's default constraints as text. */
#pragma once

extern const char *const constraints_default_rules;
