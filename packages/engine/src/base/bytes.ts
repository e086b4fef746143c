/** Sizes in bytes. In this project kB, MB and GB are powers of 1024. */
export const KILOBYTE = 1024;
/** 1,048,576 bytes. */
export const MEGABYTE = 1024 * KILOBYTE;
/** 1,073,741,824 bytes. */
export const GIGABYTE = 1024 * MEGABYTE;

/** As people are told, with two decimals and without the unit. */
export function formatGigabytes(bytes: number): string {
  return (bytes / GIGABYTE).toFixed(2);
}
