-- Days of services that are kept no longer are removed once a minute: by the primary key, all of it was read for that.
set local lock_timeout = '3s';

create index service_day_day on service_day (day);
