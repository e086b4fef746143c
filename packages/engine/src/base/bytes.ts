/** Sizes in bytes. Wherever we write kB, MB or GB, 1024 of the next smaller are meant. */
export const KILOBYTE = 1024;
export const MEGABYTE = 1024 * KILOBYTE;
export const GIGABYTE = 1024 * MEGABYTE;
