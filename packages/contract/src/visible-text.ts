/** The inside of a class of characters that are not seen, or that turn the direction of what follows. */
export const INVISIBLE =
  "\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff";

/**
 * One line of text that strangers are shown, also on a terminal: no control characters, nor those that turn the direction of what
 * follows or are not seen at all, so that it cannot pose as something else. Without the `^` that begins a pattern.
 */
export const VISIBLE = `[^${INVISIBLE}]*$`;

/** One line of text in which there is something to be seen. */
export const NAME_PATTERN = `^(?=.*\\S)${VISIBLE}`;
