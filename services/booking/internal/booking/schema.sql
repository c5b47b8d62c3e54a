-- What all migrations make, without the tables of libs/db/schema.sql that every service has.
-- UPDATE_SCHEMA=1 make units PACKAGES=./libs/db RUN=TestTheWrittenSchemas writes this file; nothing runs it.

CREATE TABLE appointment (
	id uuid NOT NULL,
	status text NOT NULL,
	service_id uuid NOT NULL,
	terms jsonb NOT NULL,
	user_id bigint NOT NULL,
	contact_id uuid NOT NULL,
	starts_at timestamp with time zone NOT NULL,
	ends_at timestamp with time zone NOT NULL,
	period tstzrange GENERATED ALWAYS AS (tstzrange(starts_at, ends_at)) STORED NOT NULL,
	buffer_before integer NOT NULL,
	buffer_after integer NOT NULL,
	location_type text NOT NULL,
	location text NOT NULL,
	meeting_url text NOT NULL,
	notes text NOT NULL,
	source text NOT NULL,
	submission_id uuid,
	cancel_reason text DEFAULT '' NOT NULL,
	sequence integer DEFAULT 0 NOT NULL,
	timed_at timestamp with time zone NOT NULL,
	reminded_at timestamp with time zone,
	version bigint DEFAULT 1 NOT NULL,
	created_at timestamp with time zone NOT NULL,
	updated_at timestamp with time zone NOT NULL,
	language text DEFAULT '' NOT NULL,
	read_as smallint DEFAULT 0 NOT NULL,
	booked_for text DEFAULT '' NOT NULL,
	waiting_told timestamp with time zone,
	status_at timestamp with time zone,
	CONSTRAINT appointment_pkey PRIMARY KEY (id),
	CONSTRAINT appointment_overlap EXCLUDE USING gist (user_id WITH =, period WITH &&) WHERE ((status = ANY (ARRAY['pending', 'confirmed', 'pending_payment']))),
	CONSTRAINT appointment_check CHECK ((ends_at > starts_at)),
	CONSTRAINT appointment_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id),
	CONSTRAINT appointment_user_id_fkey FOREIGN KEY (user_id) REFERENCES staff(user_id)
);
CREATE INDEX appointment_contact ON appointment (contact_id, starts_at, id);
CREATE INDEX appointment_names_read ON appointment (id) WHERE (((((((notes || ' ') || location) || ' ') || meeting_url) || ' ') || cancel_reason) ~ '[@%\\]');
CREATE INDEX appointment_pending ON appointment (starts_at, id) WHERE (status = 'pending');
CREATE INDEX appointment_source ON appointment (source, starts_at, id);
CREATE INDEX appointment_staff ON appointment (user_id, starts_at) INCLUDE (status, ends_at, buffer_before, buffer_after, id);
CREATE INDEX appointment_start ON appointment (starts_at, id);
CREATE INDEX appointment_updated ON appointment (updated_at, id);
CREATE TRIGGER appointment_changes AFTER UPDATE ON appointment FOR EACH ROW WHEN ((((((((((old.status IS DISTINCT FROM new.status) OR (old.user_id IS DISTINCT FROM new.user_id)) OR (old.contact_id IS DISTINCT FROM new.contact_id)) OR (old.booked_for IS DISTINCT FROM new.booked_for)) OR (old.starts_at IS DISTINCT FROM new.starts_at)) OR (old.ends_at IS DISTINCT FROM new.ends_at)) OR (old.location_type IS DISTINCT FROM new.location_type)) OR (old.location IS DISTINCT FROM new.location)) OR (old.sequence IS DISTINCT FROM new.sequence))) EXECUTE FUNCTION appointment_goes_out();
CREATE TRIGGER appointment_comes AFTER INSERT OR DELETE ON appointment FOR EACH ROW EXECUTE FUNCTION appointment_goes_out();
CREATE TRIGGER appointment_counted_delete AFTER DELETE ON appointment REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION appointment_counted();
CREATE TRIGGER appointment_counted_insert AFTER INSERT ON appointment REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION appointment_counted();
CREATE TRIGGER appointment_counted_update AFTER UPDATE ON appointment REFERENCING OLD TABLE AS gone NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION appointment_counted();
CREATE TRIGGER appointment_stamp BEFORE INSERT OR UPDATE OF updated_at ON appointment FOR EACH ROW WHEN ((new.updated_at IS NULL)) EXECUTE FUNCTION stamp_updated_at();

CREATE TABLE calendar_feed (
	user_id bigint NOT NULL,
	hash bytea NOT NULL,
	details text NOT NULL,
	created_at timestamp with time zone NOT NULL,
	last_read_at timestamp with time zone,
	CONSTRAINT calendar_feed_pkey PRIMARY KEY (user_id),
	CONSTRAINT calendar_feed_hash_key UNIQUE (hash)
);

CREATE TABLE catalog (
	one boolean DEFAULT true NOT NULL,
	revision bigint NOT NULL,
	CONSTRAINT catalog_pkey PRIMARY KEY (one),
	CONSTRAINT catalog_one_check CHECK (one)
);

CREATE TABLE contact (
	id uuid NOT NULL,
	version bigint NOT NULL,
	first_name text DEFAULT '' NOT NULL,
	last_name text DEFAULT '' NOT NULL,
	email text DEFAULT '' NOT NULL,
	email_key text DEFAULT '' NOT NULL,
	phone text DEFAULT '' NOT NULL,
	owner_user_id bigint,
	trashed boolean DEFAULT false NOT NULL,
	asked_at timestamp with time zone,
	CONSTRAINT contact_pkey PRIMARY KEY (id)
);
CREATE INDEX contact_email ON contact (email_key) WHERE (email_key <> '');
CREATE INDEX contact_owner ON contact (owner_user_id) WHERE (owner_user_id IS NOT NULL);
CREATE INDEX contact_provisional ON contact (id) WHERE (version = 0);

CREATE TABLE embedding (
	request_id uuid NOT NULL,
	page_id bigint NOT NULL,
	status text NOT NULL,
	edit_url text NOT NULL,
	created boolean NOT NULL,
	at timestamp with time zone NOT NULL,
	refused text DEFAULT '' NOT NULL,
	CONSTRAINT embedding_pkey PRIMARY KEY (request_id)
);

CREATE TABLE exception (
	id uuid NOT NULL,
	user_id bigint,
	date_from date NOT NULL,
	date_to date NOT NULL,
	start_min integer NOT NULL,
	end_min integer NOT NULL,
	all_day boolean NOT NULL,
	extra boolean NOT NULL,
	label text NOT NULL,
	created_at timestamp with time zone NOT NULL,
	holiday boolean DEFAULT false NOT NULL,
	CONSTRAINT exception_pkey PRIMARY KEY (id),
	CONSTRAINT exception_check CHECK ((date_to >= date_from)),
	CONSTRAINT exception_check1 CHECK (((end_min > start_min) AND (end_min <= 1440))),
	CONSTRAINT exception_check2 CHECK (((NOT extra) OR (user_id IS NOT NULL))),
	CONSTRAINT exception_start_min_check CHECK ((start_min >= 0))
);
CREATE UNIQUE INDEX exception_holiday ON exception (date_from) WHERE holiday;
CREATE INDEX exception_period ON exception (date_to, date_from);
CREATE CONSTRAINT TRIGGER catalog_exception AFTER INSERT OR DELETE OR UPDATE ON exception DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION catalog_changes();

CREATE TABLE external_calendar (
	id uuid NOT NULL,
	user_id bigint NOT NULL,
	kind text NOT NULL,
	name text NOT NULL,
	url bytea NOT NULL,
	username text NOT NULL,
	password bytea,
	calendar text NOT NULL,
	blocks boolean NOT NULL,
	writes boolean NOT NULL,
	state text DEFAULT 'new' NOT NULL,
	last_synced_at timestamp with time zone,
	last_error text DEFAULT '' NOT NULL,
	events integer DEFAULT 0 NOT NULL,
	validators text DEFAULT '' NOT NULL,
	digest bytea,
	read_on date,
	failing_since timestamp with time zone,
	due_at timestamp with time zone,
	holder uuid,
	held_until timestamp with time zone,
	version bigint DEFAULT 1 NOT NULL,
	created_at timestamp with time zone NOT NULL,
	last_error_code text DEFAULT '' NOT NULL,
	reading bytea,
	CONSTRAINT external_calendar_pkey PRIMARY KEY (id),
	CONSTRAINT external_calendar_state_check CHECK ((state = ANY (ARRAY['new', 'ok', 'failing', 'off'])))
);
CREATE INDEX external_calendar_due ON external_calendar (due_at);
CREATE INDEX external_calendar_state ON external_calendar (state);
CREATE INDEX external_calendar_user ON external_calendar (user_id, created_at, id);
CREATE TRIGGER calendar_changes AFTER UPDATE ON external_calendar FOR EACH ROW WHEN ((((((old.writes IS DISTINCT FROM new.writes) OR (old.calendar IS DISTINCT FROM new.calendar)) OR (old.url IS DISTINCT FROM new.url)) OR (old.username IS DISTINCT FROM new.username)) OR (old.password IS DISTINCT FROM new.password))) EXECUTE FUNCTION calendar_goes_out();
CREATE TRIGGER calendar_comes AFTER INSERT OR DELETE ON external_calendar FOR EACH ROW EXECUTE FUNCTION calendar_goes_out();
CREATE CONSTRAINT TRIGGER catalog_calendar AFTER INSERT OR DELETE ON external_calendar DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION catalog_changes();

CREATE TABLE external_month (
	calendar_id uuid NOT NULL,
	user_id bigint NOT NULL,
	month date NOT NULL,
	starts bigint[] DEFAULT '{}'::bigint[] NOT NULL,
	ends bigint[] DEFAULT '{}'::bigint[] NOT NULL,
	times bytea DEFAULT '\x'::bytea NOT NULL,
	CONSTRAINT external_month_pkey PRIMARY KEY (calendar_id, month),
	CONSTRAINT external_month_calendar_id_fkey FOREIGN KEY (calendar_id) REFERENCES external_calendar(id) ON DELETE CASCADE
);
CREATE INDEX external_month_user ON external_month (user_id, month);

CREATE TABLE external_object (
	calendar_id uuid NOT NULL,
	key text NOT NULL,
	etag text NOT NULL,
	events integer NOT NULL,
	problem text NOT NULL,
	spans bigint[] NOT NULL,
	seen_at timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT external_object_pkey PRIMARY KEY (calendar_id, key),
	CONSTRAINT external_object_calendar_id_fkey FOREIGN KEY (calendar_id) REFERENCES external_calendar(id) ON DELETE CASCADE
);

CREATE TABLE external_time (
	calendar_id uuid NOT NULL,
	user_id bigint NOT NULL,
	starts_at timestamp with time zone NOT NULL,
	ends_at timestamp with time zone NOT NULL,
	CONSTRAINT external_time_pkey PRIMARY KEY (calendar_id, starts_at),
	CONSTRAINT external_time_check CHECK (((ends_at > starts_at) AND (ends_at <= (starts_at + '24:00:00'::interval)))),
	CONSTRAINT external_time_calendar_id_fkey FOREIGN KEY (calendar_id) REFERENCES external_calendar(id) ON DELETE CASCADE
);
CREATE INDEX external_time_user ON external_time (user_id, starts_at) INCLUDE (ends_at);
CREATE TRIGGER times_come AFTER INSERT ON external_time REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION external_months();
CREATE TRIGGER times_go AFTER DELETE ON external_time REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION external_months();

CREATE TABLE form (
	id bigint NOT NULL,
	version bigint NOT NULL,
	status text NOT NULL,
	trashed boolean NOT NULL,
	elements jsonb NOT NULL,
	CONSTRAINT form_pkey PRIMARY KEY (id)
);
CREATE CONSTRAINT TRIGGER catalog_form AFTER INSERT OR DELETE OR UPDATE ON form DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION catalog_changes();

CREATE TABLE manage_token (
	hash bytea NOT NULL,
	appointment_id uuid NOT NULL,
	ended boolean DEFAULT false NOT NULL,
	CONSTRAINT manage_token_pkey PRIMARY KEY (hash),
	CONSTRAINT manage_token_appointment_id_fkey FOREIGN KEY (appointment_id) REFERENCES appointment(id) ON DELETE CASCADE
);
CREATE INDEX manage_token_appointment ON manage_token (appointment_id);

CREATE TABLE organization (
	id uuid NOT NULL,
	version bigint NOT NULL,
	owner_user_id bigint,
	CONSTRAINT organization_pkey PRIMARY KEY (id)
);
CREATE INDEX organization_owner ON organization (owner_user_id) WHERE (owner_user_id IS NOT NULL);

CREATE TABLE outgoing (
	appointment_id uuid NOT NULL,
	account_id uuid NOT NULL,
	collection text NOT NULL,
	etag text DEFAULT '' NOT NULL,
	revision bigint DEFAULT 1 NOT NULL,
	tries integer DEFAULT 0 NOT NULL,
	queued_at timestamp with time zone DEFAULT clock_timestamp(),
	due_at timestamp with time zone DEFAULT clock_timestamp(),
	written_at timestamp with time zone,
	deleted_at timestamp with time zone,
	CONSTRAINT outgoing_pkey PRIMARY KEY (appointment_id, account_id, collection),
	CONSTRAINT outgoing_account_id_fkey FOREIGN KEY (account_id) REFERENCES outgoing_account(id) ON DELETE CASCADE
);
CREATE INDEX outgoing_due ON outgoing (account_id, due_at);
CREATE INDEX outgoing_queued ON outgoing (queued_at) WHERE (queued_at IS NOT NULL);

CREATE TABLE outgoing_account (
	id uuid NOT NULL,
	user_id bigint NOT NULL,
	url bytea NOT NULL,
	username text NOT NULL,
	password bytea,
	collection text NOT NULL,
	created_at timestamp with time zone NOT NULL,
	ended_at timestamp with time zone,
	holder uuid,
	held_until timestamp with time zone,
	CONSTRAINT outgoing_account_pkey PRIMARY KEY (id)
);
CREATE INDEX outgoing_account_user ON outgoing_account (user_id, created_at, id);

CREATE TABLE page (
	id bigint NOT NULL,
	version bigint NOT NULL,
	title text NOT NULL,
	slug text NOT NULL,
	status text NOT NULL,
	content text NOT NULL,
	url text NOT NULL,
	shows jsonb DEFAULT '[]'::jsonb NOT NULL,
	CONSTRAINT page_pkey PRIMARY KEY (id)
);

CREATE TABLE service (
	id uuid NOT NULL,
	name text NOT NULL,
	description text NOT NULL,
	duration_min integer NOT NULL,
	buffer_before integer NOT NULL,
	buffer_after integer NOT NULL,
	price text,
	location_type text NOT NULL,
	location_details text NOT NULL,
	confirmation text NOT NULL,
	bookable_online boolean NOT NULL,
	min_notice_min integer,
	max_advance_days integer,
	form_id bigint,
	sort_order integer NOT NULL,
	archived boolean DEFAULT false NOT NULL,
	version bigint DEFAULT 1 NOT NULL,
	created_at timestamp with time zone NOT NULL,
	updated_at timestamp with time zone NOT NULL,
	mail_text text DEFAULT '' NOT NULL,
	placed bigint DEFAULT 0 NOT NULL,
	CONSTRAINT service_pkey PRIMARY KEY (id),
	CONSTRAINT service_buffer_after_check CHECK ((buffer_after >= 0)),
	CONSTRAINT service_buffer_before_check CHECK ((buffer_before >= 0)),
	CONSTRAINT service_duration_min_check CHECK (((duration_min >= 1) AND (duration_min <= 1440)))
);
CREATE CONSTRAINT TRIGGER catalog_service AFTER INSERT OR DELETE OR UPDATE ON service DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION catalog_changes();

CREATE TABLE settings (
	one boolean DEFAULT true NOT NULL,
	slot_step integer DEFAULT 0 NOT NULL,
	min_notice_min integer DEFAULT 0 NOT NULL,
	max_advance_days integer DEFAULT 60 NOT NULL,
	cancel_notice_hours integer DEFAULT 0 NOT NULL,
	late_cancel_text text DEFAULT '' NOT NULL,
	reminder_enabled boolean DEFAULT true NOT NULL,
	reminder_hours integer DEFAULT 24 NOT NULL,
	terms_text text DEFAULT '' NOT NULL,
	default_confirmation text DEFAULT 'auto' NOT NULL,
	client_changes boolean DEFAULT true NOT NULL,
	max_open_bookings integer DEFAULT 0 NOT NULL,
	form_id bigint,
	version bigint DEFAULT 1 NOT NULL,
	request_expires_hours integer DEFAULT 0 NOT NULL,
	expires_since timestamp with time zone,
	later_reminders integer[] DEFAULT '{}'::integer[] NOT NULL,
	notify_emails text[] DEFAULT '{}'[] NOT NULL,
	CONSTRAINT settings_pkey PRIMARY KEY (one),
	CONSTRAINT settings_one_check CHECK (one)
);
CREATE CONSTRAINT TRIGGER catalog_settings AFTER INSERT OR DELETE OR UPDATE ON settings DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION catalog_changes();

CREATE TABLE skill (
	service_id uuid NOT NULL,
	user_id bigint NOT NULL,
	CONSTRAINT skill_pkey PRIMARY KEY (service_id, user_id),
	CONSTRAINT skill_service_id_fkey FOREIGN KEY (service_id) REFERENCES service(id),
	CONSTRAINT skill_user_id_fkey FOREIGN KEY (user_id) REFERENCES staff(user_id)
);
CREATE INDEX skill_user ON skill (user_id);
CREATE CONSTRAINT TRIGGER catalog_skill AFTER INSERT OR DELETE OR UPDATE ON skill DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION catalog_changes();

CREATE TABLE staff (
	user_id bigint NOT NULL,
	name text DEFAULT '' NOT NULL,
	meeting_url text DEFAULT '' NOT NULL,
	hours jsonb DEFAULT '{}'::jsonb NOT NULL,
	removed_at timestamp with time zone,
	version bigint DEFAULT 0 NOT NULL,
	removed_version bigint,
	CONSTRAINT staff_pkey PRIMARY KEY (user_id)
);
CREATE CONSTRAINT TRIGGER catalog_staff AFTER INSERT OR DELETE OR UPDATE ON staff DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION catalog_changes();

CREATE TABLE task (
	id uuid NOT NULL,
	version bigint NOT NULL,
	owner_user_id bigint,
	CONSTRAINT task_pkey PRIMARY KEY (id)
);
CREATE INDEX task_owner ON task (owner_user_id) WHERE (owner_user_id IS NOT NULL);

CREATE OR REPLACE FUNCTION appointment_counted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
		begin
			case tg_op
			when 'INSERT' then
				insert into row_count select 'appointment', array[user_id::text, status], count(*) from changed group by 2;
			when 'DELETE' then
				insert into row_count select 'appointment', array[user_id::text, status], -count(*) from gone group by 2;
			else
				insert into row_count select 'appointment', key, sum(n) from (select array[user_id::text, status] as key, 1 as n from changed union all select array[user_id::text, status], -1 from gone) x
					group by key having sum(n) <> 0;
			end case;
			return null;
		end $function$;

CREATE OR REPLACE FUNCTION appointment_goes_out()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
	if tg_op <> 'INSERT' then
		update outgoing set revision = revision + 1, tries = 0, queued_at = coalesce(queued_at, clock_timestamp()), due_at = clock_timestamp()
			where appointment_id = old.id;
	end if;
	if tg_op <> 'DELETE' and new.status = 'confirmed' then
		insert into outgoing (appointment_id, account_id, collection) select new.id, a.id, a.collection from outgoing_account a
			where a.user_id = new.user_id and a.collection <> '' order by a.created_at, a.id limit 1 on conflict do nothing;
	end if;
	return null;
end $function$;

CREATE OR REPLACE FUNCTION calendar_goes_out()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
	person bigint := coalesce(new.user_id, old.user_id);
	counts record;
begin
	if tg_op <> 'DELETE' and new.writes and new.calendar <> '' then
		insert into outgoing_account (id, user_id, url, username, password, collection, created_at)
			values (new.id, new.user_id, new.url, new.username, new.password, new.calendar, new.created_at)
			on conflict (id) do update set url = excluded.url, username = excluded.username, password = excluded.password, collection = excluded.collection, ended_at = null;
	else
		update outgoing_account set collection = '', ended_at = coalesce(ended_at, clock_timestamp()) where id = coalesce(new.id, old.id);
	end if;
	select id, collection into counts from outgoing_account where user_id = person and collection <> '' order by created_at, id limit 1;
	insert into outgoing (appointment_id, account_id, collection) select p.id, counts.id, counts.collection from appointment p
		where counts.id is not null and p.user_id = person and p.status = 'confirmed' and p.ends_at > clock_timestamp() on conflict do nothing;
	update outgoing o set revision = o.revision + 1, tries = 0, queued_at = coalesce(o.queued_at, clock_timestamp()), due_at = clock_timestamp()
		from outgoing_account a where a.id = o.account_id and a.user_id = person
			and (o.queued_at is not null or (o.account_id, o.collection) is distinct from (counts.id, counts.collection));
	return null;
end $function$;

CREATE OR REPLACE FUNCTION catalog_changes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
	update catalog set revision = revision + 1;
	return null;
end $function$;

CREATE OR REPLACE FUNCTION external_months()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
	delete from external_month m using (select distinct calendar_id, date_trunc('month', starts_at at time zone 'UTC')::date as month from changed) c
		where m.calendar_id = c.calendar_id and m.month = c.month;
	insert into external_month (calendar_id, user_id, month, times)
		select t.calendar_id, t.user_id, c.month, string_agg(int4send(extract(epoch from t.starts_at - c.month::timestamp at time zone 'UTC')::int) || int4send(extract(epoch from t.ends_at - t.starts_at)::int), '' order by t.starts_at)
		from (select distinct calendar_id, date_trunc('month', starts_at at time zone 'UTC')::date as month from changed) c
		join external_time t on t.calendar_id = c.calendar_id and t.starts_at >= c.month::timestamp at time zone 'UTC' and t.starts_at < (c.month + interval '1 month') at time zone 'UTC'
		group by t.calendar_id, t.user_id, c.month;
	return null;
end $function$;

CREATE OR REPLACE FUNCTION fold(text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
begin
	return lower(ext.unaccent('ext.unaccent'::regdictionary, $1));
end $function$;
