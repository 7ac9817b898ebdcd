/* Descriptors. The numbers 0 to 2: whoever starts a program may have closed them; the next file that
 * is opened then gets such a number, and what is printed goes into it: a summary once stood over the
 * header of a memo. */
#pragma once

/* Take what is closed of 0 to 2, by something that can be neither read nor written: using it fails as
 * using a closed number does (EBADF), and no file of ours gets it. Programs that we start inherit
 * that. Costs three system calls. */
void descriptors_occupy_standard(void);

/* Can so many more files (at most 16) be opened now? 0, or the errno. For what ends the process when
 * it cannot open one. */
int descriptors_wanting(unsigned count);
