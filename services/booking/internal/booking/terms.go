package booking

// Terms are the settings of a service that an appointment keeps from when it was booked.
type Terms struct {
	Name            string  `json:"name"`
	DurationMin     int     `json:"duration_min"`
	BufferBefore    int     `json:"buffer_before"`
	BufferAfter     int     `json:"buffer_after"`
	Price           *string `json:"price"`
	LocationType    string  `json:"location_type"`
	LocationDetails string  `json:"location_details"`
	Confirmation    string  `json:"confirmation"`
	MinNoticeMin    *int    `json:"min_notice_min"`
	MaxAdvanceDays  *int    `json:"max_advance_days"`
}

func (s BookableService) terms() Terms {
	return Terms{s.Name, s.DurationMin, s.BufferBefore, s.BufferAfter, s.Price, s.LocationType, s.LocationDetails, s.Confirmation, s.MinNoticeMin, s.MaxAdvanceDays}
}
