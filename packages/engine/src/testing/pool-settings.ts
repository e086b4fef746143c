/** Settings of a pool with times that can be told apart. */
export const SETTINGS = {
  slots: 3,
  bootMs: 100,
  confirmMs: 20,
  failureMs: 50,
  parkMs: 300,
  maxParkMs: 500,
  idleMs: 200,
  zygoteIdleMs: 1000,
  maxAgeMs: 3000,
  canaryMs: 150,
  canaryLateMs: 60,
  replaceMs: 400,
};
