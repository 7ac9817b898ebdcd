/* The registry: one line a command. Help, completion and the man pages follow from it. */
#include "cli/cli.h"

#include <string.h>

extern const struct command command_plan, command_check, command_compare, command_show, command_sim,
    command_report, command_platform, command_convert, command_generate, command_planners,
    command_formats, command_reproduce, command_experiment, command_history, command_predict,
    command_bound, command_run, command_clean, command_key, command_agent, command_submit,
    command_status, command_attach, command_cancel, command_lint, command_profile, command_init,
    command_order, command_ui, command_stream, command_import, command_drain;

/* One a line: the next one that comes changes one. */
/* clang-format off */
const struct command *const command_registry[] = {
    &command_init,
    &command_import,
    &command_run,
    &command_stream,
    &command_clean,
    &command_key,
    &command_agent,
    &command_submit,
    &command_status,
    &command_attach,
    &command_cancel,
    &command_drain,
    &command_plan,
    &command_check,
    &command_compare,
    &command_sim,
    &command_bound,
    &command_experiment,
    &command_history,
    &command_predict,
    &command_report,
    &command_ui,
    &command_platform,
    &command_show,
    &command_convert,
    &command_order,
    &command_lint,
    &command_generate,
    &command_planners,
    &command_formats,
    &command_profile,
    &command_reproduce,
    NULL,
};
/* clang-format on */

const struct command *command_find(const char *name)
{
    for (size_t i = 0; command_registry[i]; i++)
        if (strcmp(command_registry[i]->name, name) == 0)
            return command_registry[i];
    return NULL;
}
