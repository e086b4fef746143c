/** Sizes in bytes. In this project kB, MB and GB are powers of 1024. */
export const KILOBYTE = 1024;
export const MEGABYTE = 1024 * KILOBYTE;
export const GIGABYTE = 1024 * MEGABYTE;
